import { expect, test } from 'vitest';
import { createTabTurns, type TabTurns } from './tab-turns.ts';

/** Tabs of one browser. As on the page, a tab that hears from others lets go when it may no longer hold. */
function browser() {
  let nowMs = 0;
  const tabs = new Map<string, TabTurns>();
  const open = (tab: string): void => {
    nowMs += 1;
    const turns = createTabTurns({
      ...{ tab, nowMs: () => nowMs },
      post: (note) => {
        for (const [name, other] of tabs) {
          if (name === tab) continue;
          other.hear(note);
          if (!other.mayHold()) other.letGo();
        }
      },
    });
    tabs.set(tab, turns);
    if (turns.mayHold()) turns.hold();
  };
  return {
    open,
    pass: (ms: number) => (nowMs += ms),
    /** A person uses the tab. */
    use: (tab: string) => {
      nowMs += 1;
      tabs.get(tab)?.used();
      tabs.get(tab)?.hold();
    },
    close: (tab: string) => {
      tabs.get(tab)?.letGo();
      tabs.delete(tab);
    },
    crash: (tab: string) => tabs.delete(tab),
    holding: () => [...tabs].flatMap(([tab, turns]) => (turns.mayHold() ? [tab] : [])),
    hold: (tab: string) => tabs.get(tab)?.hold(),
  };
}

test('of many tabs, the three that were used last hold a connection', () => {
  const { open, use, holding } = browser();
  for (const tab of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) open(tab);
  expect(holding()).toEqual(['e', 'f', 'g']);
  use('a');
  expect(holding()).toEqual(['a', 'f', 'g']);
});

test('a tab that was closed makes room for another one', () => {
  const { open, close, holding } = browser();
  for (const tab of ['a', 'b', 'c', 'd']) open(tab);
  expect(holding()).toEqual(['b', 'c', 'd']);
  close('d');
  expect(holding()).toEqual(['a', 'b', 'c']);
});

test('a tab that crashed makes room after 25 s of silence', () => {
  const { open, crash, pass, hold, holding } = browser();
  for (const tab of ['a', 'b', 'c', 'd']) open(tab);
  crash('d');
  pass(20_000);
  hold('b');
  hold('c');
  expect(holding()).toEqual(['b', 'c']);
  pass(6_000);
  expect(holding()).toEqual(['a', 'b', 'c']);
});
