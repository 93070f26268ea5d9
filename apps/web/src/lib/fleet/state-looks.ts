/** How pages show whether a machine is in contact: by shape and word, never by colour alone. docs/specs/states.md says what makes each true. */
import type { MachineState } from './rows.ts';

interface Look {
  readonly word: string;
  readonly mark: string;
  readonly tone: string;
}

/** In the order in which they are counted. */
export const machineLooks: Readonly<Record<MachineState, Look>> = {
  offline: { mark: '▲', tone: 'text-bad', word: 'Offline' },
  waiting: { mark: '○', tone: 'text-quiet', word: 'Awaiting setup' },
  online: { mark: '●', tone: 'text-ok', word: 'Online' },
};
