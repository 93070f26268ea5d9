import { compileCondition } from '@platform/conditions';

const evaluations = 5_000_000;

/** Evaluations of a trigger's condition per second on one core, compared with the same comparison written by hand. */
export async function measureConditions(): Promise<Readonly<Record<string, number>>> {
  const documents = Array.from({ length: 1_024 }, (_, n) => ({
    readings: { cpu: n % 100, mem: n, name: `host-${n}` },
  }));
  const of = (operator: string, value: unknown): ((document: (typeof documents)[number]) => boolean) => {
    const { matches, problems } = compileCondition({
      data_capture_method: 'sensor:host:Readings',
      conditions: { evals: [{ operator, value }] },
    });
    if (problems.length > 0) throw new Error(`expected a valid condition, found ${problems[0]?.message}`);
    return matches;
  };
  const perSecond = (test: (document: (typeof documents)[number]) => boolean): number => {
    let met = 0;
    const began = performance.now();
    for (let n = 0; n < evaluations; n++) if (test(documents[n & 1_023]!)) met += 1;
    const seconds = (performance.now() - began) / 1_000;
    if (met === 0 || met === evaluations) throw new Error(`expected some of ${evaluations} to be met, found ${met}`);
    return evaluations / seconds;
  };
  const byHand = (document: (typeof documents)[number]): boolean => document.readings.cpu > 90;
  // Compiled by the virtual machine before it is measured.
  perSecond(of('gt', { cpu: 90 }));
  perSecond(byHand);
  return {
    one_field_per_s: perSecond(of('gt', { cpu: 90 })),
    full_path_per_s: perSecond(of('gt', { 'readings.cpu': 90 })),
    regex_per_s: perSecond(of('regex', { name: '7$' })),
    by_hand_per_s: perSecond(byHand),
  };
}
