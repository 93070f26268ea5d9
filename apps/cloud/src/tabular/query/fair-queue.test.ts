import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFairQueue } from './fair-queue.ts';

const never = new AbortController().signal;

/** Waits until admissions become visible. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

function openQueue(slots: number, maxWaiting = 1_000) {
  const queue = createFairQueue({ slots, maxWaiting });
  const running: { organization: string; slot: Disposable }[] = [];
  const order: string[] = [];
  const ask = (organization: string, times = 1): void => {
    for (let i = 0; i < times; i++)
      void queue.enter(organization, never).then((slot) => {
        running.push({ organization, slot });
        order.push(organization);
      });
  };
  const of = (organization: string): number => running.filter((each) => each.organization === organization).length;
  const end = async (organization: string): Promise<void> => {
    const at = running.findIndex((each) => each.organization === organization);
    running.splice(at, 1)[0]?.slot[Symbol.dispose]();
    await settle();
  };
  return { queue, ask, of, end, order, running };
}

test('an organization that is alone leaves one slot free for the next organization', async () => {
  const { ask, of } = openQueue(4);
  ask('loud', 50);
  await settle();
  expect(of('loud')).toBe(3);
  ask('quiet');
  await settle();
  expect(of('quiet')).toBe(1);
});

test('while others wait, an organization has at most half of the slots, and turns rotate', async () => {
  const { ask, of, end, order, running } = openQueue(4);
  ask('loud', 50);
  ask('a', 3);
  ask('b', 3);
  await settle();
  expect(order).toEqual(['loud', 'loud', 'loud', 'a']);
  for (let i = 0; i < 6; i++) {
    await end(running[0]?.organization ?? '');
    expect(of('loud')).toBeLessThanOrEqual(2);
  }
  expect(order[4]).toBe('b');
  // Six ended and four run; the three other organizations took turns without waiting for the fifty queries.
  expect(order.filter((each) => each !== 'loud')).toHaveLength(5);
});

test('a cancelled query gives up its place in the queue, and a full queue refuses with advice', async () => {
  const { queue, ask, end, of } = openQueue(2, 2);
  ask('a');
  await settle();
  const gaveUp = new AbortController();
  const refused = queue.enter('a', gaveUp.signal).catch((caught: unknown) => caught);
  ask('a');
  await expect(queue.enter('a', never)).rejects.toMatchObject({
    code: 'resource_exhausted',
    message: expect.stringContaining('1 of its queries are running and 2 are waiting'),
  });
  gaveUp.abort('too late');
  expect(await refused).toBe('too late');
  expect(queue.waiting).toBe(1);
  await end('a');
  expect(of('a')).toBe(1);
  expect(queue.waiting).toBe(0);
});

test('running queries never exceed the slots, all run eventually, and free slots are used fairly', async () => {
  const step = fc.oneof(fc.record({ ask: fc.constantFrom('a', 'b', 'c') }), fc.record({ end: fc.nat({ max: 5 }) }));
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 60 }), async (slots, steps) => {
      const { queue, ask, end, order, running } = openQueue(slots);
      let asked = 0;
      for (const each of steps) {
        if ('ask' in each) {
          ask(each.ask);
          asked++;
        } else if (running.length > 0) await end(running[each.end % running.length]?.organization ?? '');
        await settle();
        expect(running.length).toBeLessThanOrEqual(slots);
        // A waiting query is held back only by its own organization's share.
        if (queue.waiting > 0)
          expect(running.length).toBeGreaterThanOrEqual(Math.min(slots, Math.max(1, Math.floor(slots / 2))));
      }
      while (running.length > 0) await end(running[0]?.organization ?? '');
      expect(order).toHaveLength(asked);
    }),
    { numRuns: 100 },
  );
});
