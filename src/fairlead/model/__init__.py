"""What things are: frozen values and pure functions, without disk or clock."""
