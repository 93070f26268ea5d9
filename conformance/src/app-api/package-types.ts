/** Types of the public package that TypeScript does not find: its declarations import each other without extensions. */
import * as sdk from '@viamrobotics/sdk';

/** A google.protobuf.Struct, in the form that the package requires for configurations. */
export const Struct: { fromJson(json: object): object } = Reflect.get(sdk, 'Struct');

/** The fields that the tests read from messages in lists. */
export interface Listed {
  readonly id: string;
  readonly userId: string;
  readonly orgId: string;
  readonly machineId: string;
  readonly partId: string;
  readonly identityId: string;
  readonly authorizationId: string;
  readonly message: string;
  readonly mainPart: boolean;
  readonly secondsSinceOnline: bigint;
  readonly apiKey?: { readonly id: string; readonly name: string };
  readonly old?: { readonly robotConfig?: Listed };
  readonly permissions: readonly string[];
  readonly machineSummaries: readonly Listed[];
  readonly partSummaries: readonly Listed[];
  toJson(): object;
}
