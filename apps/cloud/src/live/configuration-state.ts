/** In one word: what a part last reported about its configuration. docs/specs/states.md says what makes each true. Pure. */
import { ConfigurationState } from '@platform/proto/platform/live/v1/live';
import type { PartStatus } from '../machines/part-status.ts';

type Facts = Pick<PartStatus, 'last_error' | 'held_revision' | 'applied_revision' | 'fetched_revision'>;

export function configurationOf(status: Facts): ConfigurationState {
  if (status.last_error !== '') return ConfigurationState.FAILED;
  if (status.held_revision !== '') return ConfigurationState.HELD;
  // Public servers never report what they apply.
  if (status.applied_revision === '') return ConfigurationState.UNSPECIFIED;
  return status.applied_revision === status.fetched_revision ? ConfigurationState.APPLIED : ConfigurationState.APPLYING;
}

/** Of the parts of a machine. The states are numbered from fine to failed. */
export function worstConfiguration(states: readonly ConfigurationState[]): ConfigurationState {
  return states.toSorted((a, b) => b - a)[0] ?? ConfigurationState.UNSPECIFIED;
}
