"""Pictures. matplotlib is imported when the first one is drawn: pip install 'surefoot[plots]'."""
