/** Tells failures of a connection from answers of the machine or the cloud, for calls over any path. */
import { Code, ConnectError } from '@connectrpc/connect';
import { AnswerError } from '../../api/answer-error.ts';

/** Statuses of the cloud, and of proxies before it, that say that the machine did not answer. */
const statuses: ReadonlySet<number> = new Set([408, 499, 502, 503, 504]);
/** Of calls over a data channel. */
const codes: ReadonlySet<Code> = new Set([Code.Unavailable, Code.DeadlineExceeded, Code.Canceled]);

/** Whether the machine may not have got the call. */
export function isUndelivered(caught: unknown): boolean {
  if (caught instanceof AnswerError) return statuses.has(caught.status);
  return caught instanceof ConnectError ? codes.has(caught.code) : true;
}
