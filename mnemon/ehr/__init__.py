"""Health records: from the tables of a hospital to visits in numbers, and what is measured on them."""
