/** Turns an error that a call threw into a message that says what to do. */
import { Code, ConnectError } from '@connectrpc/connect';
import { Unreached } from './reach.ts';

export interface Problem {
  /** What happened. */
  readonly title: string;
  /** The cloud's message. */
  readonly detail: string;
  /** What to do. */
  readonly advice: string;
  /** The roles of the person do not allow it. */
  readonly isRefused: boolean;
  /** The cloud did not answer, for example because it is being restarted; otherwise absent. */
  readonly isAway?: true;
}

const advices: Partial<Record<Code, string>> = {
  [Code.Unauthenticated]: 'Your session has ended. Sign in again; what you typed stays here.',
  [Code.PermissionDenied]: 'Ask an owner of the organization for a role that allows this.',
  [Code.NotFound]: 'It may have been deleted or moved. Go back to the list and open it again.',
  [Code.Aborted]: 'Someone else has changed it in the meantime. Load the newest version and apply your change to it.',
  [Code.ResourceExhausted]: 'A limit was reached. Wait a moment, or ask an owner to raise it.',
  [Code.DeadlineExceeded]: 'The cloud took too long. Try again; a smaller time range helps.',
};

const titles: Partial<Record<Code, string>> = {
  [Code.Unauthenticated]: 'You are signed out',
  [Code.PermissionDenied]: 'You may not do this',
  [Code.NotFound]: 'Not found',
  [Code.InvalidArgument]: 'The cloud did not accept this',
  [Code.FailedPrecondition]: 'Not possible now',
  [Code.Aborted]: 'Changed by someone else',
  [Code.Unavailable]: 'Not reachable',
  [Code.DeadlineExceeded]: 'No answer in time',
  [Code.ResourceExhausted]: 'Limit reached',
};

export function problemOf(caught: unknown): Problem {
  if (caught instanceof DOMException && caught.name === 'TimeoutError') return unanswered;
  const error = ConnectError.from(caught);
  if (caught instanceof Unreached || error.cause instanceof Unreached || isMissingModule(caught)) return unreachable;
  if (error.code === Code.Unknown && caught instanceof Error && !(caught instanceof ConnectError))
    return { title: 'That did not work', detail: caught.message, advice: '', isRefused: false };
  return {
    title: titles[error.code] ?? 'That did not work',
    detail: error.rawMessage,
    advice: advices[error.code] ?? '',
    isRefused: error.code === Code.PermissionDenied,
    ...(error.code === Code.Unavailable && { isAway: true }),
  };
}

/**
 * The problem of an action that a person started: unlike a page that follows something, it is not tried again by itself, and the cloud may
 * have done it although the answer was lost.
 */
export function problemOfAction(caught: unknown): Problem {
  const problem = problemOf(caught);
  return problem === unreachable || problem === unanswered ? { ...problem, advice: lostAdvice } : problem;
}

const lostAdvice =
  'It may have been done, because only the answer is missing. What you typed is kept: check whether it was done, then try again.';

/** A part of the page could not be loaded. Each browser has its own text. */
function isMissingModule(caught: unknown): boolean {
  return caught instanceof TypeError && /dynamically imported module|importing a module script/i.test(caught.message);
}

const unreachable: Problem = {
  title: 'The cloud does not answer',
  detail: 'The connection failed.',
  advice: 'Check that it is running and that this computer is on its network. This page retries automatically.',
  isRefused: false,
  isAway: true,
};

const unanswered: Problem = {
  title: 'No answer in time',
  detail: 'There was no answer in time.',
  advice: 'Check that this computer is on its network. Try again.',
  isRefused: false,
  isAway: true,
};
