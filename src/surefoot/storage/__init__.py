"""Where studies are kept: databases that take events and never change one."""
