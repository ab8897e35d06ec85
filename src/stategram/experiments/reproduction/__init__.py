"""The paper's four tables on any text."""
