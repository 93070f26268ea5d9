/** What needs nothing of Node: files that browsers load import it from here. */
export { type Backoff, backoffMs } from './async/backoff.ts';
export { type Clock, systemClock } from './async/clock.ts';
export { concatBytes } from './bytes.ts';
export { canonicalApi } from './canonical-api.ts';
export { asPlatformError, type CodeName, codes, errorText, invalidValue, PlatformError } from './errors.ts';
export { describeFault, type StructSink, walkStruct } from './protobuf/walk-struct.ts';
export { WireReader } from './protobuf/wire-reader.ts';
export { maxReadingLevels } from './reading-limits.ts';
export {
  aborted,
  deadlineExceeded,
  failedPrecondition,
  invalidArgument,
  notFound,
  resourceExhausted,
  unauthenticated,
  unavailable,
  unimplemented,
} from './refusals.ts';
