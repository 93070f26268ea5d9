/**
 * Documents and lists inside of one another in a reading, the outermost included. A row wraps it twice, and what reads rows
 * (packages/query) goes 200 deep: the rest is for what queries put around it.
 */
export const maxStructLevels = 180;
