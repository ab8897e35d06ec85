"""What is worth looking at in a model: views of it as data, pages and charts, the web application."""
