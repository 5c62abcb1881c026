"""What people read of a lane, folded from turning points and traffic counters, a file for each. Observers
change nothing of what they see."""
