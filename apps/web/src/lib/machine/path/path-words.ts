/** How the Control page shows over which path it calls the machine. docs/specs/states.md says what makes each true. */
import type { PathState } from './machine-paths.ts';

interface Look {
  readonly word: string;
  readonly mark: string;
  readonly tone: string;
}

export const pathLooks: Readonly<Record<PathState['path'], Look>> = {
  direct: { mark: '●', tone: 'text-ok', word: 'Direct (WebRTC)' },
  turn: { mark: '●', tone: 'text-ok', word: 'Over TURN (WebRTC)' },
  cloud: { mark: '●', tone: 'text-ok', word: 'Through the cloud' },
  connecting: { mark: '○', tone: 'text-quiet', word: 'Connecting' },
  none: { mark: '▲', tone: 'text-bad', word: 'No connection' },
};

/** Such as `3 ms`. */
export function latencyText(ms: number): string {
  return ms < 1 ? 'under 1 ms' : `${Math.round(ms)} ms`;
}

/**
 * What a lost connection means for what this page moved.
 *
 * @param window of the session with the machine, in ms; `none`: the machine has no sessions; undefined: the page has moved nothing
 */
export function stopsText(window: number | 'none' | undefined): string {
  if (window === undefined) return 'This page has moved nothing.';
  if (window === 'none')
    return 'Whether what this page moved has stopped is unknown, because this machine does not watch its callers.';
  return `What this page moved stops by itself within ${window / 1_000} s.`;
}
