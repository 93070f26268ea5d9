import { type Clock, deadlineExceeded } from '@platform/base';

/** The result of `task`. Rejects with DEADLINE_EXCEEDED and `message` after `limitMs`, or with the reason of `signal` as soon as that is aborted. */
export async function withTimeout<T>(
  task: Promise<T>,
  limitMs: number,
  message: string,
  clock: Clock,
  signal?: AbortSignal,
): Promise<T> {
  const settled = new AbortController();
  const ends = signal === undefined ? settled.signal : AbortSignal.any([settled.signal, signal]);
  const late = clock.sleep(limitMs, ends).then(() => {
    throw deadlineExceeded(message);
  });
  try {
    return await Promise.race([task, late]);
  } finally {
    settled.abort();
  }
}
