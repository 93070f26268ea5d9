/**
 * A view of one SensorData {metadata 1 {time_requested 1, time_received 2}, struct 2, binary 3} in place: the locations of its parts, and
 * its times.
 */
import { WireReader } from '@platform/base';

// Year 1 to 9999, the range of google.protobuf.Timestamp.
export const minSeconds = -62_135_596_800;
export const maxSeconds = 253_402_300_799;

const noBytes = /* @__PURE__ */ new Uint8Array();

/** Reused for many readings, so that scanning a reading creates no objects. A range that ends at -1 is absent. */
export class SensorDataView {
  /** Which of the two the reading holds; as in every oneof, the last one applies. */
  kind: 'struct' | 'binary' | 'none' = 'none';
  contentStart = 0;
  contentEnd = -1;
  metadataStart = 0;
  metadataEnd = -1;
  hasRequested = false;
  /** NaN: the bytes are not a Timestamp. */
  requestedSeconds = 0;
  requestedNanos = 0;
  hasReceived = false;
  /** NaN: the bytes are not a Timestamp. */
  receivedSeconds = 0;
  receivedNanos = 0;
  /** The bytes are a complete message; its parts are validated separately. */
  isWhole = true;
  isMetadataWhole = true;
  readonly #wire = new WireReader(noBytes, 0, 0);
  #seconds = 0;
  #nanos = 0;

  /** @param withTimes false: the times are not read */
  read(bytes: Uint8Array, start: number, end: number, withTimes = true): void {
    this.kind = 'none';
    this.contentEnd = -1;
    this.metadataEnd = -1;
    this.hasRequested = false;
    this.requestedSeconds = 0;
    this.hasReceived = false;
    this.receivedSeconds = 0;
    this.isMetadataWhole = true;
    const wire = this.#wire;
    wire.reset(bytes, start, end);
    while (wire.next()) {
      if (wire.type !== 2) continue;
      if (wire.number === 1) {
        this.metadataStart = wire.contentStart;
        this.metadataEnd = wire.contentEnd;
        if (withTimes) this.#readMetadata(wire);
      } else if (wire.number === 2 || wire.number === 3) {
        this.kind = wire.number === 2 ? 'struct' : 'binary';
        this.contentStart = wire.contentStart;
        this.contentEnd = wire.contentEnd;
      }
    }
    this.isWhole = !wire.broken;
    // Released, because the bytes may be large.
    wire.reset(noBytes, 0, 0);
  }

  /** Wall clock of the machine; null: not sent, or invalid. */
  get requestedMs(): number | null {
    return this.hasRequested ? timeMs(this.requestedSeconds, this.requestedNanos) : null;
  }

  /** Wall clock of the machine; null: not sent, or invalid. */
  get receivedMs(): number | null {
    return this.hasReceived ? timeMs(this.receivedSeconds, this.receivedNanos) : null;
  }

  #readMetadata(wire: WireReader): void {
    const outerEnd = wire.enter();
    while (wire.next()) {
      if (wire.type !== 2 || wire.number > 2) continue;
      const isRequested = wire.number === 1;
      this.#readTimestamp(wire);
      if (isRequested) {
        this.hasRequested = true;
        this.requestedSeconds = this.#seconds;
        this.requestedNanos = this.#nanos;
      } else {
        this.hasReceived = true;
        this.receivedSeconds = this.#seconds;
        this.receivedNanos = this.#nanos;
      }
    }
    if (wire.broken) this.isMetadataWhole = false;
    wire.broken = false;
    wire.leave(outerEnd);
  }

  #readTimestamp(wire: WireReader): void {
    this.#seconds = 0;
    this.#nanos = 0;
    const outerEnd = wire.enter();
    while (wire.next()) {
      if (wire.type !== 0) continue;
      if (wire.number === 1) this.#seconds = wire.value;
      else if (wire.number === 2) this.#nanos = wire.value;
    }
    if (wire.broken) this.#seconds = Number.NaN;
    wire.broken = false;
    wire.leave(outerEnd);
  }
}

function timeMs(seconds: number, nanos: number): number | null {
  const isTime = seconds >= minSeconds && seconds <= maxSeconds && nanos >= 0 && nanos <= 999_999_999;
  return isTime ? seconds * 1_000 + Math.floor(nanos / 1_000_000) : null;
}
