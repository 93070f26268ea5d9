/** How far a machine is on the way to its first reading, and what is missing. Pure. */

import { type CaptureGap, captureGapTexts } from '@platform/machine-config/first-configuration';
import { OnlineState } from '@platform/proto/platform/app/v1/app';
import type { GetPartStatusResponse } from '@platform/proto/platform/fleet/v1/fleet';

export interface SetupStep {
  readonly name: string;
  readonly done: boolean;
  /** What is missing until it is done. */
  readonly missing: string;
  /** What to check if it takes longer than usual. */
  readonly help: string;
}

export type SetupStatus = Pick<GetPartStatusResponse, 'lastAccess' | 'fetched' | 'onlineState' | 'lastError'>;

export interface SetupFacts {
  /** Undefined: not known yet. */
  readonly status: SetupStatus | undefined;
  /** Of the newest saved configuration; undefined: nothing keeps readings from arriving, or that is not known yet. */
  readonly gap: CaptureGap | undefined;
  readonly isStored: boolean;
}

export function setupSteps({ status, gap, isStored }: SetupFacts): readonly SetupStep[] {
  const error = status?.lastError ?? '';
  return [
    {
      name: 'Connected',
      done: status?.lastAccess !== undefined,
      missing: 'the machine has never connected: run the line on it',
      help: 'Was the line run, and can the computer reach this cloud? A line works for one computer, within 15 minutes; if it was used, create a new one.',
    },
    {
      name: 'Configuration fetched',
      done: status?.fetched !== undefined,
      missing: 'the machine has connected, but not fetched its configuration',
      help: 'The machine-server has started but requests nothing: check its output on the machine.',
    },
    {
      name: 'Online',
      done: status?.onlineState === OnlineState.ONLINE,
      missing: 'the machine has fetched its configuration, but is not online',
      help: 'Is its machine-server still running? Its output on the machine says why it stopped.',
    },
    {
      name: 'Configured to capture',
      done: isStored || (gap === undefined && error === ''),
      missing: gap !== undefined ? captureGapTexts[gap] : `the configuration could not be applied: ${error}`,
      help: 'Change the configuration under Configure.',
    },
    {
      name: 'First reading stored',
      done: isStored,
      missing: 'the machine captures, but no reading has arrived yet',
      help: 'Its Logs say what capture and sync report. The data manager syncs every sync_interval_mins.',
    },
  ];
}
