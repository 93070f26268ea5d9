/** Attackers, each a process of its own, so that making a request costs the measured processes nothing. */
import { fileURLToPath } from 'node:url';
import { spawnChild } from '@platform/testkit';
import type { Attack } from './attack.ts';

const main = fileURLToPath(new URL('./attacker-process.ts', import.meta.url));

export interface Outcome {
  readonly attack: Attack;
  /** As sent. */
  readonly bytes: number;
  /** The status of gRPC or HTTP; `cut`: the server ended it before its answer was read; `failed: …`: neither. */
  readonly outcome: string;
}

export interface Attackers extends AsyncDisposable {
  /** Sends the requests at the same time, each from its own process, once all have been made. Leaves out those that cannot be made. */
  strike(attacks: readonly Attack[]): Promise<Outcome[]>;
}

interface Line {
  readonly skipped?: true;
  readonly bytes?: number;
  readonly outcome?: string;
}

export function startAttackers(count: number): Attackers {
  const children = Array.from({ length: count }, () =>
    spawnChild(process.execPath, ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning', main]),
  );
  const read = children.map(() => 0);
  const next = async (at: number): Promise<Line> => {
    const child = children[at];
    const index = read[at] ?? 0;
    read[at] = index + 1;
    await child?.waitForLine((line) => line === child.lines[index]);
    return child?.lines[index] ?? {};
  };
  return {
    async strike(attacks) {
      const struck = await Promise.all(
        attacks.slice(0, count).map(async (attack, at): Promise<Outcome | undefined> => {
          children[at]?.writeLine(attack);
          const made = await next(at);
          if (made.skipped) return undefined;
          const { bytes = 0, outcome = '' } = await next(at);
          return { attack, bytes, outcome };
        }),
      );
      return struck.filter((one) => one !== undefined);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map((child) => child[Symbol.asyncDispose]()));
    },
  };
}
