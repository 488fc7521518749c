"""Models for others: as files that anyone can build them from, and as a step that runs without mnemon."""
