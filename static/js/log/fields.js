// The fields of a batch under the names of Kafka's record format, and their values as a person reads them.

import { number } from "../base/say.js";
import { instant } from "./format.js";

const NAMES = {
  base_offset: "baseOffset", length: "batchLength", partition_leader_epoch: "partitionLeaderEpoch", magic: "magic",
  crc: "crc", attributes: "attributes", last_offset_delta: "lastOffsetDelta", base_timestamp: "baseTimestamp",
  max_timestamp: "maxTimestamp", producer_id: "producerId", producer_epoch: "producerEpoch",
  base_sequence: "baseSequence", record_count: "records count", record_length: "length",
  record_attributes: "attributes", timestamp_delta: "timestampDelta", offset_delta: "offsetDelta",
  key_length: "keyLength", key: "key", value_length: "valueLength", value: "value", header_count: "headers count",
  header_key_length: "headerKeyLength", header_key: "headerKey", header_value_length: "headerValueLength",
  header_value: "headerValue", compressed_records: "compressed records",
};
const CODEC_BITS = 7, HORIZON = 64, FLAGS = [[16, "transactional"], [32, "control"], [HORIZON, "horizon"]];

// With a delete horizon the field of the first timestamp holds that instead: the time at which the batch's tombstones
// may go.
export function fieldName({ name, record }, batch, say) {
  const own = NAMES[name] ?? name;
  if (name !== "base_timestamp" || record !== null) return own;
  const flags = batch.fields.find((field) => field.name === "attributes" && field.record === null);
  return Number(flags?.value) & HORIZON ? `${own} (${say("log.attr.horizon")})` : own;
}

export function fieldValue(field, batch, say) {
  const { name, value, start, end } = field;
  if (name === "compressed_records") return say("log.compressed", { bytes: end - start });
  if (name === "crc") return say(batch.crc_ok ? "log.crc_ok" : "log.crc_wrong", { crc: value });
  if (name === "attributes" && field.record === null) return attributes(Number(value), say);
  if (name === "base_timestamp") return instant(Number(value));
  if (name === "max_timestamp") return instant(Number(value));
  if (name === "base_offset") return number(value);
  if ((name === "key_length" || name === "value_length" || name === "header_value_length") && Number(value) === -1) {
    return `-1: ${say("log.null")}`;
  }
  return value === null || value === undefined ? "" : String(value);
}

function attributes(value, say) {
  const words = [say(`log.codec.${value & CODEC_BITS}`), say(value & 8 ? "log.attr.append" : "log.attr.create")];
  for (const [bit, name] of FLAGS) if (value & bit) words.push(say(`log.attr.${name}`));
  return say("log.attributes", { value: String(value), words: words.join(say("list.comma")) });
}

// The bytes in rows: [{address, cells: [{text, field: index or -1, isFirst}]}].
export function rows(batch, columns) {
  const owner = new Int32Array(batch.hex.length / 2).fill(-1), list = [];
  batch.fields.forEach(({ start, end }, index) => owner.fill(index, start, Math.min(end, owner.length)));
  for (let at = 0; at < owner.length; at += columns) {
    const cells = [];
    for (let byte = at; byte < Math.min(owner.length, at + columns); byte += 1) {
      cells.push({
        text: batch.hex.slice(2 * byte, 2 * byte + 2), field: owner[byte],
        isFirst: byte === 0 || owner[byte] !== owner[byte - 1],
      });
    }
    list.push({ address: at, cells });
  }
  return list;
}
