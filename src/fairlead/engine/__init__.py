"""What happens: the calls that every door makes."""
