/** The steps of a check that is a process of its own. `npm test` runs such checks beside its tests (`lane.ts`), and is told what passed. */
import { closingLine } from './closing-line.ts';

/** What the process tells the one that started it, for each step. */
export interface StepReport {
  readonly title: string;
  /** `unchanged`: it did not run, because it passed with the same files. */
  readonly result: 'passed' | 'failed' | 'unchanged';
}

export interface Steps {
  /**
   * Runs it, unless an earlier one failed, and prints the result with what it returns.
   * @param unchanged why it need not run: it passed with the same files; undefined: it runs
   */
  step(title: string, run: () => string | undefined | Promise<string | undefined>, unchanged?: string): Promise<void>;
  /** Whether a step failed. */
  readonly failed: boolean;
  /** Ends the process once all is told; prints the closing line if nobody is told. */
  end(): Promise<never>;
}

export function createSteps(): Steps {
  const count = { passed: 0, failed: 0 };
  const told: Promise<unknown>[] = [];
  const report = (message: StepReport): void => {
    if (process.send !== undefined) told.push(new Promise((resolve) => process.send?.(message, resolve)));
  };
  return {
    get failed() {
      return count.failed > 0;
    },
    async step(title, run, unchanged) {
      if (count.failed > 0) return;
      if (unchanged !== undefined) {
        console.log(`       ${title}: ${unchanged}`);
        report({ title, result: 'unchanged' });
        return;
      }
      const started = performance.now();
      try {
        const said = (await run()) ?? '';
        count.passed++;
        console.log(`ok     ${title} (${((performance.now() - started) / 1_000).toFixed(1)} s) ${said}`);
        report({ title, result: 'passed' });
      } catch (error) {
        count.failed++;
        console.log(`FAILED ${title}: ${error instanceof Error ? error.message : error}`);
        report({ title, result: 'failed' });
      }
    },
    async end() {
      await Promise.all(told);
      if (process.send === undefined) console.log(closingLine(count));
      process.exit(count.failed === 0 ? 0 : 1);
    },
  };
}
