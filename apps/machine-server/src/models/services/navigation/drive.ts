/**
 * The goal of a fake navigation service, and its way there on the clock.
 *
 *   none ──begin──▶ ACTIVE ──arrived──▶ SUCCEEDED
 *                   │  ▲ └──cancel──▶ CANCELED ◀──cancel──┐
 *                 suspend│resume                           │
 *                   ▼  │                                   │
 *                 SUSPENDED ───────────────────────────────┘
 *
 * A new goal replaces the one before, whatever its state. There is one goal at a time, and nothing fails on the way.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Clock, failedPrecondition, invalidArgument } from '@platform/base';
import {
  GoalState,
  NavMode,
  type Position,
  type StatusSchema,
  type Waypoint,
} from '@platform/proto/platform/service/navigation/v1/navigation';
import { Axis } from '../../fake/axis.ts';
import { between, distanceM, lengthM } from './positions.ts';

const stateNames = new Map<GoalState, string>(Object.entries(GoalState).map(([name, state]) => [state, name]));

export interface Stop {
  readonly position: Position;
  /** The name of its saved location. */
  readonly location?: string | undefined;
}

export interface GoalWish {
  readonly mode: NavMode;
  /** At least one. */
  readonly stops: readonly Stop[];
  /** 0: it arrives at once. */
  readonly speedMPerSec: number;
  readonly route?: {
    readonly name: string;
    readonly waypoints: Waypoint[];
    readonly index: number;
    readonly loop: boolean;
  };
}

interface Goal extends GoalWish {
  state: GoalState;
  index: number;
  lap: number;
  suspendReason: string | undefined;
  readonly startedMs: number;
  finishedMs: number | undefined;
  /** Ends the present run; each resumption has a new one. */
  run: AbortController;
  readonly final: PromiseWithResolvers<void>;
}

/** A straight way to a stop; the axis counts the metres driven. */
interface Leg {
  readonly from: Position;
  readonly to: Position;
  readonly lengthM: number;
  readonly axis: Axis;
}

export class Drive {
  readonly #clock: Clock;
  #standing: Position;
  #leg: Leg | undefined;
  #goal: Goal | undefined;

  constructor(clock: Clock, start: Position) {
    this.#clock = clock;
    this.#standing = start;
  }

  get position(): Position {
    if (this.#leg === undefined) return this.#standing;
    const { from, to, lengthM: length, axis } = this.#leg;
    return between(from, to, length === 0 ? 1 : axis.position / length);
  }

  /** Starts to drive; `settled` waits for the end. @throws invalid_argument for a loop that would take no time */
  begin(wish: GoalWish): void {
    const { stops, speedMPerSec, route } = wish;
    const positions = stops.map(({ position }) => position);
    if (route?.loop === true && (speedMPerSec === 0 || lengthM([...positions, ...positions.slice(0, 1)]) === 0))
      throw invalidArgument(
        'loop: expected a lap that takes time: the attribute m_per_sec above 0, and waypoints at different positions',
      );
    this.cancel();
    const goal: Goal = {
      ...wish,
      ...{ state: GoalState.ACTIVE, index: route?.index ?? 0, lap: 0, suspendReason: undefined },
      ...{ startedMs: this.#clock.now(), finishedMs: undefined, run: new AbortController() },
      final: Promise.withResolvers<void>(),
    };
    this.#goal = goal;
    this.#run(goal);
  }

  /** Resolves in a final state of the goal; a caller that goes away cancels the goal. */
  async settled(signal: AbortSignal): Promise<void> {
    const goal = this.#goal;
    const cancel = (): void => this.#finish(goal, GoalState.CANCELED);
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    await goal?.final.promise;
    signal.removeEventListener('abort', cancel);
    signal.throwIfAborted();
  }

  /** @throws failed_precondition if no goal is active */
  suspend(reason: string): void {
    const goal = this.#require(GoalState.ACTIVE, 'Suspend: expected an active goal');
    goal.state = GoalState.SUSPENDED;
    goal.suspendReason = reason;
    this.#halt(goal);
  }

  /** @throws failed_precondition if no goal is suspended */
  resume(): void {
    const goal = this.#require(GoalState.SUSPENDED, 'Resume: expected a suspended goal');
    goal.state = GoalState.ACTIVE;
    goal.suspendReason = undefined;
    goal.run = new AbortController();
    this.#run(goal);
  }

  /** Does nothing without a goal on its way. */
  cancel(): void {
    this.#finish(this.#goal, GoalState.CANCELED);
  }

  get status(): MessageInitShape<typeof StatusSchema> {
    const goal = this.#goal;
    const isMoving = this.#leg?.axis.isMoving === true;
    return {
      ...{ position: this.position, localized: true },
      velocity: { linearMPerSec: isMoving ? (this.#leg?.axis.velocity ?? 0) : 0 },
      ...(goal && { goal: this.#goalStatus(goal) }),
      updatedAt: timestampFromMs(this.#clock.now()),
    };
  }

  #goalStatus(goal: Goal): NonNullable<MessageInitShape<typeof StatusSchema>['goal']> {
    const { state, mode, stops, index, lap, route, suspendReason, startedMs, finishedMs } = goal;
    const stop = stops[index];
    const rest = [this.position, ...stops.slice(index).map(({ position }) => position)];
    const length = lengthM(rest);
    return {
      ...{ state, mode, startedAt: timestampFromMs(startedMs) },
      ...(stop && { target: stop.position, ...(stop.location !== undefined && { location: stop.location }) }),
      ...(state === GoalState.ACTIVE && {
        progress: { distanceRemainingM: length, lengthM: length, path: mode === NavMode.DIRECT ? [] : rest },
      }),
      ...(route && { route: { name: route.name, waypoints: route.waypoints, index, loop: route.loop, lap } }),
      ...(suspendReason !== undefined && { suspendReason }),
      ...(finishedMs !== undefined && { finishedAt: timestampFromMs(finishedMs) }),
    };
  }

  /** Drives from where the base is to the present stop and on. Without a speed, it has arrived when this returns. */
  #run(goal: Goal): void {
    const { stops, speedMPerSec, run } = goal;
    if (speedMPerSec === 0) {
      this.#standing = stops.at(-1)?.position ?? this.#standing;
      goal.index = stops.length - 1;
      this.#finish(goal, GoalState.SUCCEEDED);
      return;
    }
    this.#laps(goal).then(
      () => this.#finish(goal, GoalState.SUCCEEDED),
      // Whoever ended the run has set the state.
      () => run.abort(),
    );
  }

  async #laps(goal: Goal): Promise<void> {
    const { stops, speedMPerSec, route, run } = goal;
    for (;;) {
      for (; goal.index < stops.length; goal.index += 1) {
        const to = stops[goal.index]?.position ?? this.#standing;
        const [from, axis] = [this.#standing, new Axis(this.#clock)];
        const leg: Leg = { from, to, axis, lengthM: distanceM(from, to) };
        this.#leg = leg;
        await axis.moveTo(leg.lengthM, speedMPerSec, run.signal);
        // It may have been halted in the moment of its arrival.
        run.signal.throwIfAborted();
        this.#standing = to;
        this.#leg = undefined;
      }
      goal.index = route?.loop === true ? 0 : stops.length - 1;
      if (route?.loop !== true) return;
      goal.lap += 1;
    }
  }

  #require(state: GoalState, expected: string): Goal {
    const goal = this.#goal;
    if (goal?.state === state) return goal;
    throw failedPrecondition(`${expected}, found ${goal === undefined ? 'none' : stateNames.get(goal.state)}`);
  }

  #finish(goal: Goal | undefined, state: GoalState): void {
    if (goal === undefined || goal.finishedMs !== undefined) return;
    goal.state = state;
    goal.suspendReason = undefined;
    goal.finishedMs = this.#clock.now();
    this.#halt(goal);
    goal.final.resolve();
  }

  /** The base stays where it is. */
  #halt(goal: Goal): void {
    this.#standing = this.position;
    this.#leg = undefined;
    goal.run.abort();
  }
}
