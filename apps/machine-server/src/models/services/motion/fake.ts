/**
 * `core:builtin:fake`: a motion service whose motions succeed after a time, without moving anything; its poses are the requested ones.
 *
 * Attributes: `seconds` (default 0), the time of each motion. See fake-model.ts for `errors` and `delays_ms`.
 */
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Clock, invalidArgument, newId, notFound, PlatformError } from '@platform/base';
import { type PoseInFrame, PoseInFrameSchema } from '@platform/proto/platform/common/v1/common';
import { PlanState } from '@platform/proto/platform/service/motion/v1/motion';
import { type Motion, motion } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const fields = { seconds: { kind: 'float', default: 0, min: 0 } } as const;

interface Run {
  readonly planId: string;
  readonly executionId: string;
  readonly componentName: string;
  state: PlanState;
  atMs: number;
  readonly ended: AbortController;
}

/** How many ended motions are remembered. */
const mostRuns = 100;

export const createFakeMotion: (clock: Clock) => Model = fakeModel<Motion, typeof fields>({
  type: motion,
  fields,
  make({ seconds }, clock) {
    const poses = new Map<string, PoseInFrame>();
    const runs: Run[] = [];
    const begin = (componentName: string): Run => {
      for (const before of runs) if (before.componentName === componentName) end(before, PlanState.STOPPED);
      const ended = new AbortController();
      const ids = { planId: newId(), executionId: newId(), componentName };
      const run: Run = { ...ids, state: PlanState.IN_PROGRESS, atMs: clock.now(), ended };
      if (runs.push(run) > mostRuns) runs.shift();
      clock.sleep(seconds * 1_000, ended.signal).then(
        () => end(run, PlanState.SUCCEEDED),
        () => {},
      );
      return run;
    };
    const end = (run: Run, state: PlanState): void => {
      if (run.state !== PlanState.IN_PROGRESS) return;
      run.state = state;
      run.atMs = clock.now();
      run.ended.abort();
    };
    const statusOf = ({ state, atMs }: Run) => ({ state, timestamp: timestampFromMs(atMs) });
    const planOf = (run: Run) => ({
      plan: { id: run.planId, executionId: run.executionId, componentName: run.componentName },
      status: statusOf(run),
    });
    const stopAll = (componentName?: string): void => {
      for (const run of runs)
        if (componentName === undefined || run.componentName === componentName) end(run, PlanState.STOPPED);
    };
    return {
      async move({ componentName, destination }, { signal }) {
        if (destination === undefined) throw invalidArgument('destination: expected a pose in a frame, found none');
        const run = begin(componentName);
        await Promise.race([ended(run.ended.signal), ended(signal)]);
        if (signal.aborted) end(run, PlanState.STOPPED);
        if (run.state !== PlanState.SUCCEEDED)
          throw new PlatformError('aborted', `the motion of "${componentName}" was stopped before it ended`);
        poses.set(componentName, destination);
        return { success: true };
      },
      moveOnMap: async ({ componentName }) => ({ executionId: begin(componentName).executionId }),
      moveOnGlobe: async ({ componentName }) => ({ executionId: begin(componentName).executionId }),
      async getPose({ componentName, destinationFrame }) {
        const referenceFrame = destinationFrame || 'world';
        return { pose: poses.get(componentName) ?? create(PoseInFrameSchema, { referenceFrame, pose: { oZ: 1 } }) };
      },
      async stopPlan({ componentName }) {
        stopAll(componentName);
      },
      async listPlanStatuses({ onlyActivePlans }) {
        const wanted = runs.filter(({ state }) => !onlyActivePlans || state === PlanState.IN_PROGRESS);
        return {
          planStatusesWithIds: wanted.map((run) => ({
            ...{ planId: run.planId, executionId: run.executionId, componentName: run.componentName },
            status: statusOf(run),
          })),
        };
      },
      async getPlan({ componentName, executionId }) {
        const all = runs.filter((run) => run.componentName === componentName);
        const found = executionId === undefined ? all.at(-1) : all.find((run) => run.executionId === executionId);
        if (found === undefined) throw notFound(`there is no plan for "${componentName}"`);
        return { currentPlanWithStatus: planOf(found), replanHistory: [] };
      },
      async close() {
        stopAll();
      },
    };
  },
});

function ended(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
