import { expect, test } from 'vitest';
import { Circuits } from './circuits.ts';

function given(): { circuits: Circuits; at: (ms: number) => void; fail: (times: number) => void } {
  let now = 1_000;
  const circuits = new Circuits(() => now);
  return {
    circuits,
    at: (ms) => {
      now = ms;
    },
    fail: (times) => {
      for (let n = 0; n < times; n++) circuits.failed('t');
    },
  };
}

test('five failures in a row open the circuit; after 10 s one message tries the target, and a success closes it', () => {
  const { circuits, at, fail } = given();
  fail(4);
  expect([circuits.isOpen('t'), circuits.placesOf('t', 4)]).toEqual([false, 4]);
  fail(1);
  expect([circuits.open(), circuits.isOpen('other')]).toEqual([['t'], false]);
  at(11_000);
  expect([circuits.isOpen('t'), circuits.placesOf('t', 4)]).toEqual([false, 1]);
  circuits.succeeded('t');
  expect(circuits.placesOf('t', 4)).toBe(4);
});

test('each failed attempt doubles the interval up to five minutes; answers to messages sent earlier count once', () => {
  const { circuits, at, fail } = given();
  fail(9);
  let now = 1_000;
  for (const openMs of [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]) {
    at(now + openMs - 1);
    expect(circuits.isOpen('t')).toBe(true);
    now += openMs;
    at(now);
    expect(circuits.isOpen('t')).toBe(false);
    fail(1);
  }
});

test('a success in between restarts the count, and setting the clock back does not keep a circuit open for long', () => {
  const { circuits, at, fail } = given();
  fail(4);
  circuits.succeeded('t');
  fail(4);
  expect(circuits.isOpen('t')).toBe(false);
  at(10_000_000);
  fail(1);
  expect(circuits.isOpen('t')).toBe(true);
  at(5_000);
  expect(circuits.isOpen('t')).toBe(false);
});
