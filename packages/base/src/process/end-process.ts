/**
 * Ends this process even if a call to the operating system does not return. `process.exit` waits for the threads of Node's pool, so that a
 * single file of a network that is gone would keep a stopped server running.
 */
import { type Clock, systemClock } from '../async/clock.ts';

/** For calls that do return, such as the last line of a log. */
const graceMs = 1_000;
const lookAgainMs = 10;

/** @param code the exit code; if a call does not return, the process ends by SIGKILL */
export async function endProcess(code: number, clock: Clock = systemClock): Promise<never> {
  const lastMs = clock.monotonic() + graceMs;
  while (hasCallInProgress() && clock.monotonic() < lastMs) await clock.sleep(lookAgainMs);
  if (!hasCallInProgress()) process.exit(code);
  process.kill(process.pid, 'SIGKILL');
  return new Promise<never>(() => {});
}

/** A call on a file, or a name that is being resolved. */
function hasCallInProgress(): boolean {
  return process.getActiveResourcesInfo().some((name) => /^FSReq|^Get\w+ReqWrap$/.test(name));
}
