"""One module per storage format; its library is imported when such data is opened."""
