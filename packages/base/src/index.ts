export { type Backoff, backoffMs } from './async/backoff.ts';
export { type Clock, dayMs, hourMs, systemClock } from './async/clock.ts';
export { finishAll } from './async/finish-all.ts';
export { type Follower, type FollowOptions, follow } from './async/follow.ts';
export { inBackground } from './async/in-background.ts';
export { createLimiter } from './async/limiter.ts';
export { runInTurns, runToEnd, type Steps } from './async/turns.ts';
export { Wakeup } from './async/wakeup.ts';
export { concatBytes, crc32c, varintBytes, writeVarint } from './bytes.ts';
export { canonicalApi } from './canonical-api.ts';
export { chunks } from './chunks.ts';
export { siblingEntry } from './entry.ts';
export {
  asPlatformError,
  type CodeName,
  codes,
  errorText,
  invalidValue,
  ownFault,
  PlatformError,
  stackText,
} from './errors.ts';
export { FileTurns, fileTurns } from './files/file-turns.ts';
export { readWhole } from './files/read-whole.ts';
export {
  findRegular,
  openRegular,
  type RegularFile,
  readRegular,
  readRegularNow,
  wireTime,
} from './files/regular-file.ts';
export { type FileAttributes, type Replacement, replaceFile } from './files/replace-file.ts';
export { getOrInsert, memoized } from './get-or-insert.ts';
export { harmless } from './harmless.ts';
export { HashedPieces, type Piece } from './hashing/hashed-pieces.ts';
export { type ThreadHash, threadHash } from './hashing/thread-hash.ts';
export { newId, newSecret, newShortId } from './ids.ts';
export { isRecord } from './is-record.ts';
export { isSame } from './is-same.ts';
export {
  type ClockAndLog,
  createLog,
  fieldText,
  isLogged,
  jsonLine,
  type Log,
  type LogFields,
  type LogLevel,
  type LogLine,
  logLevels,
  silentLog,
} from './log.ts';
export { networkOf } from './network/network-of.ts';
export { peerAddressOf, withoutPort } from './network/peer-address.ts';
export { noProxies, parseTrustedProxies, plainAddress, type TrustedProxies } from './network/trusted-proxies.ts';
export type { Problem } from './problem.ts';
export { endProcess } from './process/end-process.ts';
export { letHeapGrow } from './process/heap-growth.ts';
export { trimWhenIdle } from './process/trim-memory.ts';
export { SharedTurns } from './process/watchdog/shared-turns.ts';
export { writeCompileCache } from './process/write-compile-cache.ts';
export { describeFault, type StructSink, walkStruct } from './protobuf/walk-struct.ts';
export { doubleAt, WireReader } from './protobuf/wire-reader.ts';
export { maxReadingBytes, maxReadingLevels } from './reading-limits.ts';
export {
  aborted,
  alreadyExists,
  dataLoss,
  deadlineExceeded,
  failedPrecondition,
  invalidArgument,
  notFound,
  permissionDenied,
  resourceExhausted,
  unauthenticated,
  unavailable,
  unimplemented,
} from './refusals.ts';
export { type Repaired, repairOutcomes } from './repaired.ts';
export { asStarted } from './text/as-started.ts';
export { deletedMachineText, deletedPlaceText, isOfDeletedMachine } from './text/deleted-machine.ts';
export { invisibleCharacter, isVisible, visibleText } from './text/invisible-character.ts';
export { jsonIn } from './text/json-in.ts';
export { machineKeyAdvice } from './text/machine-key-advice.ts';
export { printable, printableEntry } from './text/printable.ts';
export { uriDecoded } from './text/uri-decoded.ts';
export { version } from './version.ts';
export { readLogField, zapField, zapFields } from './zap-field.ts';
