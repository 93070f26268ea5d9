import { expect, test } from 'vitest';
import { createHold } from './hold.ts';

function rig() {
  const sent: string[] = [];
  const answers: (() => void)[] = [];
  const hold = createHold(async () => void sent.push('stop'));
  return {
    sent,
    hold,
    move: (name: string) => () => {
      sent.push(name);
      return new Promise<void>((resolve, reject) => answers.push(name === 'fails' ? reject : resolve));
    },
    answer: async () => {
      for (const one of answers.splice(0)) one();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('what is held stops when it is released', async () => {
  const { hold, sent, move, answer } = rig();
  hold.press(move('forward'));
  await answer();
  expect([hold.isHeld, sent]).toEqual([true, ['forward']]);
  hold.release();
  hold.release();
  expect([hold.isHeld, sent]).toEqual([false, ['forward', 'stop']]);
});

test.each(['forward', 'fails'])(
  '%s: a release before the answer stops at once, and again after it: the first stop may have overtaken it',
  async (name) => {
    const { hold, sent, move, answer } = rig();
    hold.press(move(name));
    hold.release();
    expect(sent).toEqual([name, 'stop']);
    await answer();
    expect(sent).toEqual([name, 'stop', 'stop']);
  },
);

test('another direction replaces the first, and one release stops', async () => {
  const { hold, sent, move, answer } = rig();
  hold.press(move('forward'));
  hold.press(move('left'));
  await answer();
  hold.release();
  await answer();
  expect(sent).toEqual(['forward', 'left', 'stop']);
});

test('nothing is stopped that was not moved here', () => {
  const { hold, sent } = rig();
  hold.release();
  expect(sent).toEqual([]);
});
