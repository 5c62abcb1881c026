"""The lab: one workload, several models side by side, under one virtual clock."""
