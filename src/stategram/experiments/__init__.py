"""Recipes, and the texts they are tried on."""
