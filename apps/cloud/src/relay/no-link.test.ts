import { expect, test } from 'vitest';
import type { PartPresence } from '../machines/presence/presence.ts';
import { type NoLinkDeps, noLink } from './no-link.ts';

const seenMs = Date.UTC(2026, 0, 2, 3, 4, 5);

function reason(of: { presence: PartPresence; lostMs?: number; reports?: boolean }): string {
  const deps = {
    links: { lostMs: () => of.lostMs },
    registry: { placeOf: () => ({ robotName: 'press-7', partName: 'press-7-main' }) },
    presence: { of: () => of.presence },
    reports: () => of.reports ?? false,
  };
  const error = noLink(deps as unknown as NoLinkDeps, 'p');
  expect(error.code).toBe('unavailable');
  return error.message;
}

test('a part without a link is offline since a time, never came, has just lost it, or has a server without remote control', () => {
  const online: PartPresence = { state: 'online', lastSeenMs: seenMs, changedMs: seenMs };
  expect(reason({ presence: { state: 'awaiting_setup', lastSeenMs: null, changedMs: null } })).toContain(
    'the machine "press-7" (part "press-7-main") has never connected: set it up with "Show the line to run" on its page',
  );
  expect(reason({ presence: { state: 'offline', lastSeenMs: 0, changedMs: seenMs } })).toContain(
    'is offline since 2026-01-02T03:04:05.000Z',
  );
  expect(reason({ presence: online, lostMs: seenMs })).toContain('lost its link to the cloud at 2026-01-02T03:04:05');
  expect(reason({ presence: online, reports: true })).toContain('has not opened its link to the cloud yet');
  expect(reason({ presence: online })).toContain('(public machine servers use WebRTC)');
});
