process GRADSIFT_SELECT {
    tag "$meta.id"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container "gradsift:0.1.0"

    input:
    tuple val(meta), path(table), val(target)

    output:
    tuple val(meta), path("${prefix}/findings.tsv")  , emit: findings
    tuple val(meta), path("${prefix}/selected.tsv")  , emit: selected
    tuple val(meta), path("${prefix}/projection.tsv"), emit: projection
    tuple val(meta), path("${prefix}/summary.json")  , emit: summary
    tuple val(meta), path("${prefix}/model.gradsift"), emit: model
    tuple val(meta), path("${prefix}/report.html")   , emit: report
    tuple val("${task.process}"), val('gradsift'), eval('gradsift --version | sed "s/gradsift //"'), emit: versions_gradsift, topic: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    gradsift select $table \\
        --target '$target' \\
        --format tsv \\
        --threads $task.cpus \\
        --out $prefix \\
        $args
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    mkdir $prefix
    touch $prefix/{findings.tsv,selected.tsv,projection.tsv,summary.json,model.gradsift,report.html}
    """
}
