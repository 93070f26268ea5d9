export { type Backoff, backoffMs } from './backoff.ts';
export { concatBytes, crc32c } from './bytes.ts';
export { type Clock, systemClock } from './clock.ts';
export { siblingEntry } from './entry.ts';
export { asPlatformError, type CodeName, codes, errorText, PlatformError } from './errors.ts';
export { type Follower, type FollowOptions, follow } from './follow.ts';
export { newId, newSecret, newShortId } from './ids.ts';
export { createLimiter } from './limiter.ts';
export { createLog, type Log, type LogFields, type LogLevel, silentLog } from './log.ts';
