/** A file of the snapshot was merged into another and removed while this process was starting: a newer snapshot has the other one. */
export class StaleSnapshot extends Error {}
