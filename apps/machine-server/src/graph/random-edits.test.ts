/** Random configurations and edits: checks the running resources at the end, and the order in which they were built, used and closed. */
import { silentLog } from '@platform/base';
import type { ResourceConfig } from '@platform/machine-config/schema';
import type { Resource } from '@platform/resources';
import { FakeClock } from '@platform/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { gated } from '../testing/gated-model.ts';
import { Graph } from './graph.ts';
import type { Model } from './model.ts';

const most = 8;

interface Wanted {
  readonly version: number;
  readonly dependsOn: readonly number[];
  /** How often a build of it fails before it succeeds. */
  readonly failures: number;
}

/** By the number of a resource; undefined if it is not configured. A resource depends only on resources with lower numbers. */
type Document = readonly (Wanted | undefined)[];

const document: fc.Arbitrary<Document> = fc.tuple(
  ...Array.from({ length: most }, (_, number) =>
    fc.option(
      fc.record({
        version: fc.nat(2),
        dependsOn: number === 0 ? fc.constant([]) : fc.uniqueArray(fc.nat(number - 1), { maxLength: 3 }),
        failures: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) }),
      }),
      { nil: undefined, freq: 4 },
    ),
  ),
);

function configsOf(wanted: Document): ResourceConfig[] {
  return wanted.flatMap((each, number) => {
    if (each === undefined) return [];
    const present = each.dependsOn.filter((other) => wanted[other] !== undefined).map((other) => `r${other}`);
    return [
      { ...gated(`r${number}`, present, each.version), attributes: { v: each.version, failures: each.failures } },
    ];
  });
}

interface Built extends Resource {
  readonly name: string;
  readonly version: unknown;
  readonly uses: readonly Built[];
  state: 'open' | 'closed';
}

/** Records violations of the order of builds and closes. @param wait how long the build of a resource takes */
function recorder(wait: (config: ResourceConfig) => Promise<void>) {
  const breaches: string[] = [];
  const all: Built[] = [];
  const failed = new Map<string, number>();
  const model: Model = {
    api: 'core:component:sensor',
    model: 'core:builtin:gated',
    async build(config, { dependencies }) {
      const uses = [...dependencies.values()] as Built[];
      if (uses.length !== config.depends_on.length) breaches.push(`${config.name} was built without its dependencies`);
      // Checked now, because an edit that removes its dependencies may later supersede the build and close its result.
      for (const { name, state } of uses)
        if (state === 'closed') breaches.push(`${config.name} was built with ${name}, which was closed`);
      await wait(config);
      const key = JSON.stringify(config);
      const failures = failed.get(key) ?? 0;
      if (failures < Number(config.attributes['failures'])) {
        failed.set(key, failures + 1);
        throw new Error('not yet');
      }
      const built: Built = {
        ...{ name: config.name, version: config.attributes['v'], uses, state: 'open' },
        async close() {
          if (built.state === 'closed') breaches.push(`${built.name} was closed twice`);
          built.state = 'closed';
        },
      };
      all.push(built);
      return built;
    },
  };
  return { model, breaches, all };
}

/** The running resources, each with its version, and recursively its dependencies with theirs. */
function running(graph: Graph): Record<string, unknown> {
  const shown = (one: Built): unknown => [one.name, one.version, one.uses.map(shown)];
  return Object.fromEntries(
    graph.status().map(({ config, state }) => {
      const found = graph.get(`${config.api}/${config.name}`) as Built | undefined;
      return [config.name, [state, found && shown(found)]];
    }),
  );
}

function newGraph(model: Model, clock: FakeClock): Graph {
  const graph = new Graph({ models: [model], configureTimeoutMs: 600_000, clock, log: silentLog });
  graph.start();
  return graph;
}

/** Applies and lets retries happen. */
async function settle(graph: Graph, clock: FakeClock, wanted: Document, revision: string): Promise<void> {
  const applied = graph.apply(configsOf(wanted), revision);
  await clock.advance(100_000);
  await applied;
}

test('after any edits, even while others are in progress, the same resources run as after a fresh start, in order', async () => {
  const edits = fc.array(fc.record({ document, pauseMs: fc.nat(30) }), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(edits, document, fc.array(fc.nat(20), { minLength: 1 }), async (before, last, times) => {
      const clock = new FakeClock();
      let builds = 0;
      const take = (): Promise<void> => clock.sleep(times[builds++ % times.length] ?? 0);
      const { model, breaches, all } = recorder(take);
      const graph = newGraph(model, clock);
      for (const [index, { document: wanted, pauseMs }] of before.entries()) {
        void graph.apply(configsOf(wanted), `r${index}`);
        await clock.advance(pauseMs);
      }
      await settle(graph, clock, last, 'last');
      const fresh = recorder(take);
      const other = newGraph(fresh.model, clock);
      await settle(other, clock, last, 'last');
      expect(running(graph)).toEqual(running(other));
      expect(breaches).toEqual([]);
      const open = all.filter(({ state }) => state === 'open').map(({ name }) => name);
      expect(open.toSorted(), 'what is open is what runs').toEqual(Object.keys(running(graph)).toSorted());
      await Promise.all([graph[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
      expect(all.filter(({ state }) => state === 'open')).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test('a replaced resource is closed only after its dependents use the new one', async () => {
  await fc.assert(
    fc.asyncProperty(
      document,
      fc.nat(most - 1),
      fc.array(fc.nat(20), { minLength: 1 }),
      async (wanted, changed, times) => {
        const clock = new FakeClock();
        let builds = 0;
        const { model, all } = recorder(() => clock.sleep(times[builds++ % times.length] ?? 0));
        await using graph = newGraph(model, clock);
        await settle(graph, clock, wanted, 'first');
        const tooEarly: string[] = [];
        for (const one of all) {
          const close = one.close.bind(one);
          one.close = async () => {
            const isInUse = graph.status().some(({ config: { api, name } }) => {
              const now = graph.get(`${api}/${name}`) as Built | undefined;
              return now?.uses.includes(one) === true;
            });
            if (isInUse) tooEarly.push(one.name);
            await close();
          };
        }
        const edited = wanted.map((each, number) => (number === changed && each ? { ...each, version: 9 } : each));
        await settle(graph, clock, edited, 'second');
        expect(tooEarly).toEqual([]);
      },
    ),
    { numRuns: 100 },
  );
});

test('resources of one level are all built at the same time', async () => {
  await fc.assert(
    fc.asyncProperty(document, async (given) => {
      const wanted = given.map((each) => each && { ...each, failures: 0 });
      const configs = configsOf(wanted);
      const depths = new Map<string, number>();
      for (const { name, depends_on } of configs)
        depths.set(name, Math.max(-1, ...depends_on.map((other) => depths.get(other) ?? -1)) + 1);
      const levels = new Map<number, { left: number; readonly begun: PromiseWithResolvers<void> }>();
      for (const depth of depths.values()) {
        const level = levels.get(depth) ?? { left: 0, begun: Promise.withResolvers<void>() };
        level.left++;
        levels.set(depth, level);
      }
      // A build waits until all builds of its level have begun: it would wait forever for one that waits for it.
      const { model } = recorder(async ({ name }) => {
        const level = levels.get(depths.get(name) ?? 0);
        if (level === undefined) return;
        if (--level.left === 0) level.begun.resolve();
        await level.begun.promise;
      });
      const clock = new FakeClock();
      await using graph = newGraph(model, clock);
      await settle(graph, clock, wanted, 'only');
      expect(graph.status().every(({ state }) => state === 'ready')).toBe(true);
    }),
    { numRuns: 100 },
  );
});
