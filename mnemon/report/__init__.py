"""Reports: what the records in a folder come to, as tables and pictures. Reads files, never models."""
