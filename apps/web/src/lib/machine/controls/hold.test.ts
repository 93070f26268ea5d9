import { expect, test } from 'vitest';
import { createHold } from './hold.ts';

function rig(stopped: () => Promise<void> = async () => {}) {
  const sent: string[] = [];
  const answers: (() => void)[] = [];
  const hold = createHold(() => {
    sent.push('stop');
    return stopped();
  });
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

test('a movement stops when it is released', async () => {
  const { hold, sent, move, answer } = rig();
  hold.press(move('forward'));
  await answer();
  expect([hold.isHeld, sent]).toEqual([true, ['forward']]);
  hold.release();
  hold.release();
  expect([hold.isHeld, sent]).toEqual([false, ['forward', 'stop']]);
});

test.each(['forward', 'fails'])(
  '%s: a release before the answer stops at once, and again after the answer: the first stop may have overtaken the movement',
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

test('a release without a press sends no stop', () => {
  const { hold, sent } = rig();
  hold.release();
  expect(sent).toEqual([]);
});

test('a movement that is pressed while a stop is pending is sent after its answer: the stop would end it', async () => {
  const stops: (() => void)[] = [];
  const { hold, sent, move, answer } = rig(() => new Promise((resolve) => stops.push(resolve)));
  hold.press(move('forward'));
  await answer();
  hold.release();
  hold.press(move('left'));
  hold.press(move('right'));
  await answer();
  expect([hold.isHeld, sent]).toEqual([true, ['forward', 'stop']]);
  stops.pop()?.();
  await answer();
  expect(sent).toEqual(['forward', 'stop', 'right']);
});

test('a movement that is released before it could be sent is not sent', async () => {
  const stops: (() => void)[] = [];
  const { hold, sent, move, answer } = rig(() => new Promise((resolve) => stops.push(resolve)));
  hold.press(move('forward'));
  await answer();
  hold.release();
  hold.press(move('left'));
  hold.release();
  for (const one of stops.splice(0)) one();
  await answer();
  expect(sent).toEqual(['forward', 'stop', 'stop']);
});
