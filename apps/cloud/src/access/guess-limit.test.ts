import { networkOf } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createGuessLimit, type GuessLimit, pairAllowance } from './guess-limit.ts';

const password = (credential: string, peerAddress: string) => ({ credential, peerAddress, kind: 'password' }) as const;
const secret = (credential: string, peerAddress: string) => ({ credential, peerAddress, kind: 'secret' }) as const;
const wrong = async (): Promise<undefined> => undefined;
const right = async (): Promise<string> => 'in';

async function fail(limit: GuessLimit, times: number, credential: string, address: string): Promise<void> {
  for (let turn = 0; turn < times; turn++) await limit.attempt(password(credential, address), wrong);
}

type Step =
  | {
      readonly kind: 'guess';
      readonly credential: string;
      readonly address: string;
      readonly how: 'secret' | 'password';
    }
  | { readonly kind: 'wait'; readonly ms: number };

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: guessStep() },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 1_000_000 }) }),
    },
  ),
  { maxLength: 150 },
);

function guessStep(): fc.Arbitrary<Step> {
  return fc.record({
    kind: fc.constant('guess' as const),
    credential: fc.constantFrom('ann', 'bob', 'nobody'),
    address: fc.constantFrom('10.0.0.1:1', '10.0.0.1:2', '10.0.0.2:1', '[2001:db8::1]:5'),
    how: fc.constantFrom('secret', 'password'),
  });
}

async function attack(limit: GuessLimit, clock: FakeClock, history: readonly Step[]): Promise<void> {
  for (const step of history) {
    if (step.kind === 'wait') await clock.advance(step.ms);
    else await limit.attempt({ credential: step.credential, peerAddress: step.address, kind: step.how }, wrong);
  }
}

test("other clients' attempts never block the right password from its own address, or the right secret from any address", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const clock = new FakeClock();
      const limit = createGuessLimit(clock);
      await attack(limit, clock, history);
      const home = await limit.attempt(password('ann', '192.0.2.7:9'), right);
      const sameAddress = await limit.attempt(secret('ann', '10.0.0.1:3'), right);
      expect([home, sameAddress]).toEqual([
        { outcome: 'right', value: 'in' },
        { outcome: 'right', value: 'in' },
      ]);
    }),
    { numRuns: 60 },
  );
});

test('an answer depends on earlier attempts, never on the id that was tried: an unknown id waits like a known one', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const outcomes = async (name: (credential: string) => string): Promise<unknown[]> => {
        const clock = new FakeClock();
        const limit = createGuessLimit(clock);
        const seen: unknown[] = [];
        for (const step of history) {
          if (step.kind === 'wait') await clock.advance(step.ms);
          else {
            const guess = { credential: name(step.credential), peerAddress: step.address, kind: step.how };
            seen.push(await limit.attempt(guess, wrong));
          }
        }
        return seen;
      };
      expect(await outcomes((id) => id)).toEqual(await outcomes((id) => `unknown ${id}`));
    }),
    { numRuns: 30 },
  );
});

test('after the fifth wrong password, waits double from 1 s to 15 min, and the answer contains them', async () => {
  const clock = new FakeClock();
  const limit = createGuessLimit(clock);
  await fail(limit, 5, 'ann', '10.0.0.1:1');
  const waits: number[] = [];
  for (let turn = 0; turn < 13; turn++) {
    const answer = await limit.attempt(password('ann', '10.0.0.1:1'), right);
    const waitMs = answer.outcome === 'wait' ? answer.waitMs : 0;
    waits.push(waitMs / 1_000);
    await clock.advance(waitMs);
    expect(await limit.attempt(password('ann', '10.0.0.1:1'), wrong)).toEqual({ outcome: 'wrong' });
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
});

test('during a wait passwords are not checked, so a right guess looks like a wrong one', async () => {
  const clock = new FakeClock();
  const limit = createGuessLimit(clock);
  await fail(limit, 5, 'ann', '10.0.0.1:1');
  let looked = 0;
  const answer = await limit.attempt(password('ann', '10.0.0.1:1'), async () => {
    looked++;
    return 'in';
  });
  expect(answer).toMatchObject({ outcome: 'wait' });
  expect(looked).toBe(0);
});

test('of a hundred simultaneous guesses, only as many are checked as before the first wait', async () => {
  const limit = createGuessLimit(new FakeClock());
  let looked = 0;
  const slow = async (): Promise<undefined> => {
    looked++;
    await new Promise((resolve) => setImmediate(resolve));
    return undefined;
  };
  await Promise.all(Array.from({ length: 100 }, () => limit.attempt(password('ann', '10.0.0.1:1'), slow)));
  expect(looked).toBe(pairAllowance);
});

test("many ids from one address also cause a wait, and the attacker's own right password does not reset the address", async () => {
  const clock = new FakeClock();
  const limit = createGuessLimit(clock);
  for (let index = 0; index < 50; index++) await limit.attempt(password(`victim ${index}`, '10.0.0.1:1'), wrong);
  expect(await limit.attempt(password('mine', '10.0.0.1:1'), right)).toMatchObject({ outcome: 'wait', waitMs: 1_000 });
  await clock.advance(1_000);
  expect(await limit.attempt(password('mine', '10.0.0.1:1'), right)).toMatchObject({ outcome: 'right' });
  await limit.attempt(password('victim 50', '10.0.0.1:1'), wrong);
  expect(await limit.attempt(password('victim 51', '10.0.0.1:1'), wrong)).toMatchObject({
    outcome: 'wait',
    waitMs: 2_000,
  });
});

test('failures are forgotten after an hour without another one, and after a right password', async () => {
  const clock = new FakeClock();
  const limit = createGuessLimit(clock);
  await fail(limit, 4, 'ann', '10.0.0.1:1');
  expect(await limit.attempt(password('ann', '10.0.0.1:1'), right)).toMatchObject({ outcome: 'right' });
  await fail(limit, 5, 'ann', '10.0.0.1:1');
  expect(await limit.attempt(password('ann', '10.0.0.1:1'), right)).toMatchObject({ outcome: 'wait' });
  await clock.advance(3_600_000);
  expect(await limit.attempt(password('ann', '10.0.0.1:1'), right)).toMatchObject({ outcome: 'right' });
});

test('memory stays bounded, however many ids and addresses an attacker uses', async () => {
  const limit = createGuessLimit(new FakeClock(), 100);
  for (let index = 0; index < 1_000; index++)
    await limit.attempt(password(`id ${index}`, `10.0.${index >> 8}.${index & 255}:1`), wrong);
  expect(limit.size).toBe(200);
});

test('a failure of the store is not counted as a guess', async () => {
  const limit = createGuessLimit(new FakeClock());
  for (let turn = 0; turn < 20; turn++) {
    const broken = limit.attempt(password('ann', '10.0.0.1:1'), async () => {
      throw new Error('the disk failed');
    });
    await expect(broken).rejects.toThrow('the disk failed');
  }
  expect(limit.size).toBe(0);
});

test('an address identifies one customer: the port is dropped, and only the first 64 bits of IPv6 count', () => {
  expect(
    [
      '10.0.0.1:443',
      '::ffff:10.0.0.1',
      '[::1]:5',
      '[2001:db8:1:2:3:4:5:6]:80',
      '2001:DB8:1:2::9',
      '2001:db8::1',
      'fe80::1%eth0',
      '',
    ].map(networkOf),
  ).toEqual([
    '10.0.0.1',
    '10.0.0.1',
    '0:0:0:0::/64',
    '2001:db8:1:2::/64',
    '2001:db8:1:2::/64',
    '2001:db8:0:0::/64',
    'fe80:0:0:0::/64',
    '',
  ]);
});
