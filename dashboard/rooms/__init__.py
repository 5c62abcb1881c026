"""Rooms: a presenter shows a lab or a lecture's deck, and everybody who has the room's code follows.

codes      six letters that are not guessed     shown      what a presenter's page may say that it shows
services   every write                          selectors  every read: who one is, the state, the counts
feed       the state to the sockets of a process  consumers  one socket
questions  what the presenter asks the room     answers    what each seat answers, and all of it together
tasks      what each seat is to bring a copy of its own to, and how far the room is
links      addresses with a secret, and QR      api, urls  the requests of pages and programs

The room's row is the truth. Redis carries a state as soon as it is stored; a process that missed one reads the row
within two seconds. A state is whole and has a version, so nothing is shown twice and a late comer needs one message.
"""
