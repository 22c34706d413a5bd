"""Studies: experiments that are kept in a storage, driven by any number of people, scripts and workers."""
