/** What happened to the line that connects a machine. */
import { AnswerError } from './answer-error.ts';
import { reach } from './reach.ts';

export interface ConnectState {
  readonly fetchCount: number;
  /** The first ones, and the last. */
  readonly fetches: readonly { readonly at: Date; readonly address: string }[];
  /** Where the credentials went; undefined: nowhere yet. */
  readonly usedFrom: string | undefined;
}

/** @param token of the line @returns `ended` once it is older than 15 minutes, replaced by a newer line, or the cloud was restarted */
export async function connectState(token: string, signal: AbortSignal): Promise<ConnectState | 'ended'> {
  const answer = await reach(`/connect/${token}/state`, { signal });
  if (answer.status === 404) return 'ended';
  if (!answer.ok) throw new AnswerError('The cloud did not say what happened to the line.', answer.status);
  const state = (await answer.json()) as {
    fetch_count: number;
    fetches: { at: string; address: string }[];
    used_from: string | null;
  };
  return {
    fetchCount: state.fetch_count,
    fetches: state.fetches.map(({ at, address }) => ({ at: new Date(at), address })),
    usedFrom: state.used_from ?? undefined,
  };
}
