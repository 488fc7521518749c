"""Readers of health records, one format a file; each gives the same canonical form."""
