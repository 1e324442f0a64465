export * from '../policy/grid.js';
