"""The best back-off n-gram model in place of any model.

Nothing is imported here: models import their own targets, and `approximate` imports models.
"""
