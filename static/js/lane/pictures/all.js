// A lane's picture, whichever model's: by its kind.

import * as clientGrid from "./client_grid.js";
import * as hashRing from "./hash_ring.js";
import * as partitionGrid from "./partition_grid.js";
import * as queueDispatch from "./queue_dispatch.js";
import * as queueRows from "./queue_rows.js";
import * as rangeSplit from "./range_split.js";

export const PICTURES = {
  ring: hashRing, ranges: rangeSplit, grid: partitionGrid, clients: clientGrid, queue: queueDispatch,
  queues: queueRows,
};
