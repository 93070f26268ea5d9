/** The table of gaps: readings of parts that were not captured, or not kept. */
import type { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import type { Selectable } from 'kysely';
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

export interface GapsTables {
  gaps: {
    part_id: string;
    /** Named by the machine-server; unique within the part. */
    gap_id: string;
    organization_id: string;
    component_type: string;
    component_name: string;
    method_name: string;
    reason: GapReason;
    start_us: number;
    end_us: number;
    readings: number;
  };
}

export type GapRow = Selectable<GapsTables['gaps']>;

export const gapsSchema: Schema = {
  statements: [
    'create table gaps (part_id text not null, gap_id text not null, organization_id text not null, component_type text not null, component_name text not null, method_name text not null, reason bigint not null, start_us bigint not null, end_us bigint not null, readings bigint not null, primary key (part_id, gap_id))',
    // Listings are ordered by time; a gap's id may occur in several parts, because a machine can be cloned.
    'create index gaps_by_organization on gaps (organization_id, start_us, gap_id, part_id)',
    'create index gaps_by_start on gaps (part_id, start_us, gap_id)',
  ],
};
