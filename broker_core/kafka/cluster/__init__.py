"""A cluster as nodes of a world: brokers that replicate, the controller that decides, and what a person may
do to them."""
