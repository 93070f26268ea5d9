/** How pages show the states of resources and modules, as the machine reports them. docs/specs/states.md says what makes each true. */
import {
  ModuleStatus_State as ModuleState,
  ResourceStatus_State as ResourceState,
} from '@platform/proto/platform/robot/v1/robot';

export interface Look {
  readonly word: string;
  readonly mark: string;
  readonly tone: string;
}

const unknown: Look = { word: 'Unknown', mark: '○', tone: 'text-quiet' };

export const resourceLooks: Readonly<Record<ResourceState, Look>> = {
  [ResourceState.UNSPECIFIED]: unknown,
  [ResourceState.UNCONFIGURED]: { word: 'Unconfigured', mark: '○', tone: 'text-quiet' },
  [ResourceState.CONFIGURING]: { word: 'Configuring', mark: '◌', tone: 'text-warn' },
  [ResourceState.READY]: { word: 'Ready', mark: '●', tone: 'text-ok' },
  [ResourceState.REMOVING]: { word: 'Removing', mark: '◌', tone: 'text-quiet' },
  [ResourceState.UNHEALTHY]: { word: 'Unhealthy', mark: '▲', tone: 'text-bad' },
};

export const moduleLooks: Readonly<Record<ModuleState, Look>> = {
  [ModuleState.UNSPECIFIED]: unknown,
  [ModuleState.PENDING]: { word: 'Pending', mark: '○', tone: 'text-warn' },
  [ModuleState.STARTING]: { word: 'Starting', mark: '◌', tone: 'text-warn' },
  [ModuleState.READY]: { word: 'Ready', mark: '●', tone: 'text-ok' },
  [ModuleState.UNHEALTHY]: { word: 'Unhealthy', mark: '▲', tone: 'text-bad' },
  [ModuleState.CLOSING]: { word: 'Closing', mark: '◌', tone: 'text-quiet' },
};

/** A newer machine-server may report states that this page does not know. */
export const resourceLook = (state: ResourceState): Look => resourceLooks[state] ?? unknown;
export const moduleLook = (state: ModuleState): Look => moduleLooks[state] ?? unknown;
