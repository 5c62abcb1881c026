// How important what a page has to say is: the smaller, the more. The story line shows the most important.

export const BROKEN = 0;   // something has crashed, is down, or has nobody who serves it
export const WAITING = 1;  // records or partitions wait
export const CHANGED = 2;  // something was done, and nothing waits for it
export const IDLE = 3;     // all is well
