/** What makes the request of one operation, and the requests that many operations share. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Caller, Subject } from './rules.ts';
import type { World } from './world.ts';

/** `unique`: a number that no other request of the run has. */
export type Builder = (subject: Subject, world: World, unique: number, caller: Caller) => object | readonly object[];

export const byOrgId: Builder = ({ id }) => ({ orgId: id });
export const byOrganizationId: Builder = ({ id }) => ({ organizationId: id });
export const byLocationId: Builder = ({ id }) => ({ locationId: id });
export const byId: Builder = ({ id }) => ({ id });
export const byRobotId: Builder = ({ id }) => ({ robotId: id });
export const byPartId: Builder = ({ id }) => ({ partId: id });
export const empty: Builder = () => ({});

export const now = () => timestampFromMs(Date.now());
