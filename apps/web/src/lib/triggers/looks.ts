/** How pages show the states of triggers, of their targets and of deliveries. docs/specs/triggers.md says what makes each one true. */
import { DeliveryState, TargetState, TriggerState } from '@platform/proto/platform/app/v1/triggers';

export interface Look {
  readonly word: string;
  readonly mark: string;
  readonly tone: string;
}

const good = { mark: '●', tone: 'text-ok' } as const;
const bad = { mark: '▲', tone: 'text-bad' } as const;
const waits = { mark: '◌', tone: 'text-warn' } as const;
const still = { mark: '‖', tone: 'text-quiet' } as const;
const over = { mark: '○', tone: 'text-quiet' } as const;

export const triggerLooks: Readonly<Record<TriggerState, Look>> = {
  [TriggerState.UNSPECIFIED]: { word: 'Unknown', ...over },
  [TriggerState.WORKING]: { word: 'Working', ...good },
  [TriggerState.DISABLED]: { word: 'Disabled', ...over },
  [TriggerState.BROKEN]: { word: 'Broken', ...bad },
  [TriggerState.REFUSED]: { word: 'Refused', ...bad },
  [TriggerState.FAILING]: { word: 'Failing', ...bad },
  [TriggerState.PAUSED]: { word: 'Paused', ...still },
  [TriggerState.KEPT]: { word: 'Kept', ...waits },
};
export const targetLooks: Readonly<Record<TargetState, Look | undefined>> = {
  [TargetState.UNSPECIFIED]: undefined,
  [TargetState.DELIVERED]: { word: 'Delivered', ...good },
  [TargetState.KEPT]: { word: 'Kept', ...waits },
  [TargetState.FAILING]: { word: 'Failing', ...bad },
  [TargetState.REFUSED]: { word: 'Refused', ...bad },
  [TargetState.PAUSED]: { word: 'Paused', ...still },
};
export const deliveryLooks: Readonly<Record<DeliveryState, Look>> = {
  [DeliveryState.UNSPECIFIED]: { word: 'Unknown', ...over },
  [DeliveryState.PENDING]: { word: 'Pending', ...waits },
  [DeliveryState.PAUSED]: { word: 'Paused', ...still },
  [DeliveryState.DELIVERED]: { word: 'Delivered', mark: '✓', tone: 'text-ok' },
  [DeliveryState.KEPT]: { word: 'Kept', ...waits },
  [DeliveryState.FAILED]: { word: 'Failed', ...bad },
  [DeliveryState.CANCELLED]: { word: 'Cancelled', ...over },
};

/** The states in which nobody outside is told, the worst first. */
export const troubles: readonly TriggerState[] = [
  TriggerState.BROKEN,
  TriggerState.REFUSED,
  TriggerState.FAILING,
  TriggerState.KEPT,
];

export const triggerLook = (state: TriggerState): Look => triggerLooks[state] ?? triggerLooks[TriggerState.UNSPECIFIED];
/** Undefined: nothing was sent to it, and nothing speaks against it. */
export const targetLook = (state: TargetState): Look | undefined => targetLooks[state];
export const deliveryLook = (state: DeliveryState): Look =>
  deliveryLooks[state] ?? deliveryLooks[DeliveryState.UNSPECIFIED];

/** For sorting: troubles first. */
export function urgencyOf(state: TriggerState): number {
  const at = troubles.indexOf(state);
  return at < 0 ? troubles.length : at;
}
