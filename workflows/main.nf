// Select variables of a large table: passes over its columns as jobs.
//
//     nextflow run workflows/main.nf --table /data/cohort.bed --target_from /data/height.pheno
//
// Every round does one pass in parts; `gradsift merge` says with exit code 3 that there is another.
nextflow.enable.dsl = 2
nextflow.preview.recursion = true

params.table = null
params.options = ''
params.target_from = null
params.state = "${launchDir}/gradsift-scan"
params.out = "${launchDir}/gradsift-out"
params.parts = 22

process BEGIN {
    output:
    val 'more'

    script:
    def pheno = params.target_from ? "--target-from ${params.target_from}" : ''
    """
    gradsift scan ${params.table} ${pheno} ${params.options} --init --state ${params.state} \
        || [ \$? -eq 3 ]
    """
}

// one job: its parts run side by side, each as a task of the scheduler's array where there is one
process ROUND {
    cpus params.parts

    input:
    val before

    output:
    stdout

    script:
    if (before.trim() == 'done')
        "printf done"
    else
        """
        seq 1 ${params.parts} | xargs -P ${params.parts} -I{} \
            gradsift scan --state ${params.state} --part {}/${params.parts} >&2
        gradsift merge --state ${params.state} --out ${params.out} --force >&2 && printf done \
            || { [ \$? -eq 3 ] && printf more; }
        """
}

workflow {
    ROUND.recurse(BEGIN()).until { it.trim() == 'done' }
}
